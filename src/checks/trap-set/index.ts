// The trap set of verification: labelled claims of which only true ones may be accepted, and its runner.
export {
  formatTrapReport,
  measureTraps,
  verificationTraps,
  type TrapRate,
  type TrapReport,
  type VerifyClaim,
} from './measure-traps.ts';
export { parseTraps, trapKinds, type TrapKind, type TrapLabel, type VerificationTrap } from './traps.ts';
