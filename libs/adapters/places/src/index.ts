export { loadPlaces, type PlacesOptions } from './load-places.ts';
export { PlacesFileError } from './locode-list.ts';
