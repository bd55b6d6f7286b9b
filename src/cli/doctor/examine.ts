// Runs the checks one after the other; one that breaks is a finding, not the end.
import { FairleadError, errorMessage } from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { sandboxFor } from '../conversation/confinement.ts';
import { readSettings, type Settings } from '../settings/index.ts';
import { ok, warn, fail, type Confined, type DoctorCheck, type Finding, type Ground, type Subject } from './check.ts';
import { doctorChecks } from './checks.ts';
import { once, subjectOf } from './subject.ts';

/** What a check found, under its name. */
export type Examined = Finding & { readonly name: string; readonly ms: number };

/** What is to be looked at; what is absent is found out. */
export type ExamineOptions = {
  readonly offline?: boolean;
  /** The model to try, by name. */
  readonly model?: string | undefined;
  readonly settings?: Settings;
  readonly subject?: Subject;
  readonly confined?: Confined;
  readonly signal?: AbortSignal;
  readonly checks?: readonly DoctorCheck[];
  /** Told before each check. */
  readonly begins?: (name: string) => void;
};

/** The findings as they come. */
export async function* examine(options: ExamineOptions = {}): AsyncGenerator<Examined> {
  const { checks = doctorChecks, signal = new AbortController().signal } = options;
  const ground = groundFor(options, signal);
  const told = new Set<unknown>();
  for (const check of checks) {
    if (signal.aborted) return;
    options.begins?.(check.name);
    const began = performance.now();
    const finding = check.online && options.offline ? ok('Left away (--offline).') : await found(check, ground, told);
    yield { name: check.name, ...finding, ms: Math.round(performance.now() - began) };
  }
}

/** What is wrong with settings or model choice is told by the first check that meets it; the others only say that it is in their way. */
async function found(check: DoctorCheck, ground: Ground, told: Set<unknown>): Promise<Finding> {
  try {
    return await check.run(ground);
  } catch (error) {
    if (told.has(error)) return warn('Not looked at, because of what is said above.', 'Mend that first.');
    told.add(error);
    const hint = error instanceof FairleadError ? error.hint : undefined;
    return fail(errorMessage(error), hint ?? 'Try again; if it stays so, it is a fault of this program.');
  }
}

function groundFor(options: ExamineOptions, signal: AbortSignal): Ground {
  const settings = once(() => options.settings ?? readSettings());
  const subject = once(async () => options.subject ?? subjectOf(settings(), options.model));
  return {
    env: process.env,
    signal,
    get settings() {
      return settings();
    },
    subject: async () => subject(),
    confined: async () => options.confined ?? confinedHere(settings()),
  };
}

/** What commands would run in if a conversation were begun here. */
async function confinedHere(settings: Settings): Promise<Confined> {
  const workspace = localWorkspace({ roots: ['.'] });
  return { workspace, sandbox: await sandboxFor(settings, workspace.cwd, true) };
}
