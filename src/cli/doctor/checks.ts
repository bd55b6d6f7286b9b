// The table of the doctor's checks, in the order of the report.
import type { DoctorCheck } from './check.ts';
import { commandSandboxCheck } from './command-sandbox-check.ts';
import { guardsCheck } from './guards-check.ts';
import { hardwareCheck } from './hardware-check.ts';
import { logCheck } from './log-check.ts';
import { machineChecks } from './machine-checks.ts';
import { microvmCheck } from './microvm-check.ts';
import { modelChecks } from './model-checks.ts';
import { containerCheck } from './container-check.ts';
import { toolsCheck } from './tools-check.ts';
import { worktreesCheck } from './worktrees-check.ts';

/** All checks of the doctor, in the order they run. */
export const doctorChecks: readonly DoctorCheck[] = [
  ...machineChecks,
  ...modelChecks,
  hardwareCheck,
  toolsCheck,
  commandSandboxCheck,
  microvmCheck,
  guardsCheck,
  containerCheck,
  logCheck,
  worktreesCheck,
];
