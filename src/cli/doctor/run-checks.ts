// Runs the checks one after the other; one that breaks is a finding, not the end.
import { FairleadError, errorMessage } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { selectSandbox } from '../../coding-agent/protected-paths.ts';
import { readSettings, type Settings } from '../../coding-agent/settings/index.ts';
import {
  ok,
  warn,
  fail,
  type CommandSandbox,
  type DoctorCheck,
  type CheckResult,
  type CheckContext,
  type TargetModel,
} from './check.ts';
import { doctorChecks } from './checks.ts';
import { memoize, resolveTargetModel } from './target-model.ts';

/** What a check found, under its name. */
export type NamedCheckResult = CheckResult & { readonly name: string; readonly ms: number };

/** What is to be looked at; what is absent is found out. */
export type RunChecksOptions = {
  readonly offline?: boolean;
  /** The model to try, by name. */
  readonly model?: string | undefined;
  readonly settings?: Settings;
  readonly target?: TargetModel;
  readonly commandSandbox?: CommandSandbox;
  readonly signal?: AbortSignal;
  readonly checks?: readonly DoctorCheck[];
  /** Told before each check. */
  readonly onCheckStarted?: (name: string) => void;
};

/** The findings as they come. */
export async function* runDoctorChecks(options: RunChecksOptions = {}): AsyncGenerator<NamedCheckResult> {
  const { checks = doctorChecks, signal = new AbortController().signal } = options;
  const ground = createCheckContext(options, signal);
  const told = new Set<unknown>();
  for (const check of checks) {
    if (signal.aborted) return;
    options.onCheckStarted?.(check.name);
    const began = performance.now();
    const finding =
      check.needsNetwork && options.offline ? ok('Left away (--offline).') : await runOneCheck(check, ground, told);
    yield { name: check.name, ...finding, ms: Math.round(performance.now() - began) };
  }
}

/** What is wrong with settings or model choice is told by the first check that meets it; the others only say that it is in their way. */
async function runOneCheck(check: DoctorCheck, ground: CheckContext, told: Set<unknown>): Promise<CheckResult> {
  try {
    return await check.run(ground);
  } catch (error) {
    if (told.has(error)) return warn('Not looked at, because of what is said above.', 'Mend that first.');
    told.add(error);
    const hint = error instanceof FairleadError ? error.hint : undefined;
    return fail(errorMessage(error), hint ?? 'Try again; if it stays so, it is a fault of this program.');
  }
}

function createCheckContext(options: RunChecksOptions, signal: AbortSignal): CheckContext {
  const settings = memoize(() => options.settings ?? readSettings());
  const subject = memoize(async () => options.target ?? resolveTargetModel(settings(), options.model));
  return {
    env: process.env,
    signal,
    get settings() {
      return settings();
    },
    target: async () => subject(),
    commandSandbox: async () => options.commandSandbox ?? createCommandSandbox(settings()),
  };
}

/** What commands would run in if a conversation were begun here. */
async function createCommandSandbox(settings: Settings): Promise<CommandSandbox> {
  const workspace = localWorkspace({ roots: ['.'] });
  return { workspace, sandbox: await selectSandbox(settings, workspace.cwd) };
}
