// Exports of src/rules/declarative for other modules.
export { compileRuleSet } from './rule-set.ts';
