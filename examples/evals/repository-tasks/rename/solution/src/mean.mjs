import { sum } from './sum.mjs';

export const mean = (list) => sum(list) / list.length;
