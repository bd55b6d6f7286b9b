import { calc } from './sum.mjs';

export const mean = (list) => calc(list) / list.length;
