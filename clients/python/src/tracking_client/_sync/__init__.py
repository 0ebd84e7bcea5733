# Made from _async by `npm run client-types`: not to be edited.
