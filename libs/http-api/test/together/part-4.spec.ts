import { together } from './together.ts';

together(4);
