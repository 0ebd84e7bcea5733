/** Elements that make a page or bring code into one. */
const PAGE_ELEMENTS =
  'html|head|body|title|base|link|meta|style|script|noscript|template|iframe|frame|frameset|object|embed|applet|form|svg|math';
const TAG_ENDS = '[\\t\\n\\f\\r />]';

/** Markup of a page anywhere in a text that is no XML: also where a page was cut out of its frame. */
export const PAGE_MARKUP = new RegExp(`<(?:/?(?:${PAGE_ELEMENTS})${TAG_ENDS}|!doctype|\\?php)`, 'i');

/** What begins a page, in what is otherwise no text. Not closing tags: PDF has names behind a slash, as in `<</Title`. */
export const PAGE_BEGINNING = new RegExp(
  `<(?:!doctype[\\t\\n\\f\\r ]|(?:html|head|body|script|iframe|svg)${TAG_ENDS})`,
  'i',
);

/**
 * In XML names like `body` and `object` are anybody's. What makes a page of it, or runs: elements of pages that nothing
 * else is called like, whatever their prefix; the namespaces of pages, pictures and stylesheets; entities, which also let a
 * few bytes grow to any size.
 */
export const XML_MARKUP = new RegExp(
  `<(?:(?:[^\\s<>&/:="']{1,64}:)?(?:html|svg|script|iframe|embed|applet)${TAG_ENDS}|!entity)` +
    '|http://www\\.w3\\.org/(?:1999/xhtml|2000/svg|1999/XSL/Transform)',
  'i',
);

/** No match of page or XML markup is longer. */
export const LONGEST_MARKUP = 96;

/** With these a reader takes a text for a page that does not say what it is (WHATWG MIME Sniffing, 7.1). */
export const BEGINS_PAGE = new RegExp(
  `^<(?:!--|!doctype|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|svg|math)(?:${TAG_ENDS}|$))`,
  'i',
);
