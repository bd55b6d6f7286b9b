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
export type { Attack, Condition, Defence, PlannedCall, RedTeamRun, Scenario, World } from './types.ts';
