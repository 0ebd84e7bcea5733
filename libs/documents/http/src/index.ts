export { DocumentsHttpModule } from './documents-http.module.ts';
