/** Of a table that holds nothing to be focused: it is scrolled by key all the same. */
export const SCROLLED_BY_KEY = { viewportProps: { tabIndex: 0 } };
