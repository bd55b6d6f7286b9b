// Rules as YAML files: parse, validate and compile them.
export { compileRuleSet } from './rule-set.ts';
