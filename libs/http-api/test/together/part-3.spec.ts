import { together } from './together.ts';

together(3);
