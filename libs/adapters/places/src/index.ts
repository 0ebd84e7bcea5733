export { loadPlaces } from './load-places.ts';
export { PlacesFileError } from './locode-list.ts';
