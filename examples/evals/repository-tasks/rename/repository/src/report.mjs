import { mean } from './mean.mjs';
import { calc } from './sum.mjs';

export const report = (list) => `${calc(list)} in all, ${mean(list)} on average`;
