// The red team: attacks by untrusted text on an agent in a simulated world, with and without the flow policy.
export { adaptiveAttacks } from './adaptive.ts';
export { builtinAttacks } from './attacks.ts';
export { createObedientModel, obedientModelName } from './obedient-model.ts';
export { parseAttacks } from './parse-attacks.ts';
export {
  createRedTeamReport,
  formatRedTeamReport,
  type RedTeamFigures,
  type RedTeamReport,
  type RedTeamShare,
} from './report.ts';
export { defaultDefences, runRedTeam, type RedTeamOptions } from './run.ts';
export { maxSuiteAttacks, parseSuite, type Suite, type SuiteAttack } from './suite.ts';
export {
  createSuiteReport,
  formatSuiteReport,
  type SuiteDefence,
  type SuiteFigures,
  type SuiteReport,
} from './suite-report.ts';
export type { WorldTool } from './tool-parts.ts';
export type { Attack, Condition, Defence, PlannedCall, RedTeamRun, Scenario, World } from './types.ts';
