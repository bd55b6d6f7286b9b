// Runs the doctor's checks one after another; a check that throws is a failed check and does not stop the others.
import { FairleadError, errorMessage } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { selectSandbox } from '../../coding-agent/index.ts';
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

/** The result of a check, with its name. */
export type NamedCheckResult = CheckResult & { readonly name: string; readonly ms: number };

/** What to check; absent members are determined from the settings. */
export type RunChecksOptions = {
  readonly offline?: boolean;
  /** The name of the model to test. */
  readonly model?: string | undefined;
  readonly settings?: Settings;
  readonly target?: TargetModel;
  readonly commandSandbox?: CommandSandbox;
  readonly toolNames?: readonly string[];
  readonly signal?: AbortSignal;
  readonly checks?: readonly DoctorCheck[];
  /** Called before each check. */
  readonly onCheckStarted?: (name: string) => void;
};

/** Yields the results one by one. */
export async function* runDoctorChecks(options: RunChecksOptions = {}): AsyncGenerator<NamedCheckResult> {
  const { checks = doctorChecks, signal = new AbortController().signal } = options;
  const context = createCheckContext(options, signal);
  const reported = new Set<unknown>();
  for (const check of checks) {
    if (signal.aborted) return;
    options.onCheckStarted?.(check.name);
    const startedAt = performance.now();
    const result =
      check.needsNetwork && options.offline ? ok('Skipped (--offline).') : await runOneCheck(check, context, reported);
    yield { name: check.name, ...result, ms: Math.round(performance.now() - startedAt) };
  }
}

/** An error of the settings or of the model selection is reported by the first check that meets it; the others refer to it. */
async function runOneCheck(check: DoctorCheck, context: CheckContext, reported: Set<unknown>): Promise<CheckResult> {
  try {
    return await check.run(context);
  } catch (error) {
    if (reported.has(error)) return warn('Not tested because of the error above.', 'Fix that first.');
    reported.add(error);
    const hint = error instanceof FairleadError ? error.hint : undefined;
    return fail(errorMessage(error), hint ?? 'Try again; if it fails again, this is a bug of Fairlead.');
  }
}

function createCheckContext(options: RunChecksOptions, signal: AbortSignal): CheckContext {
  const settings = memoize(() => options.settings ?? readSettings());
  const target = memoize(async () => options.target ?? resolveTargetModel(settings(), options.model));
  return {
    env: process.env,
    signal,
    get settings() {
      return settings();
    },
    target: async () => target(),
    commandSandbox: async () => options.commandSandbox ?? createCommandSandbox(settings()),
    ...(options.toolNames ? { toolNames: options.toolNames } : {}),
  };
}

/** Returns the sandbox that commands of a conversation in this directory would run in. */
async function createCommandSandbox(settings: Settings): Promise<CommandSandbox> {
  const workspace = localWorkspace({ roots: ['.'] });
  return { workspace, sandbox: await selectSandbox(settings, workspace.cwd) };
}
