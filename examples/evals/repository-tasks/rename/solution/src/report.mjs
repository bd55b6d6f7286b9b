import { mean } from './mean.mjs';
import { sum } from './sum.mjs';

export const report = (list) => `${sum(list)} in all, ${mean(list)} on average`;
