// What a check of the doctor is: a name and a function that looks at one part and says how it stands.
import type { FairleadError, Provider, Workspace } from '../../core/index.ts';
import type { Sandbox } from '../../guards/index.ts';
import type { ResolvedModel } from '../../coding-agent/models/resolve-model.ts';
import type { ModelEndpoint } from '../../coding-agent/state/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';

/** How a part stands, and how to mend it where it does not. */
export type CheckResult = {
  readonly standing: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly mend?: string;
};

/** The model that is looked at. */
export type TargetModel = {
  /** Where its provider is; nothing for a stand-in and for the embedded model, which are nowhere else. */
  readonly endpoint: ModelEndpoint | undefined;
  /** Nothing where no model can be told. */
  readonly model: ResolvedModel | undefined;
  /** Why the model that was asked for is none. */
  readonly error?: FairleadError;
  /** How it came to be this one. */
  readonly reason: string;
  /** Asks its provider, once: what it said, or the error that every check meets which needs it; nothing where there is none to ask. */
  readonly testConnection: () => Promise<string | undefined>;
  /** Opens it, once. */
  readonly open: () => Promise<Provider>;
};

/** A working folder, and what the model's commands run in there. */
export type CommandSandbox = { readonly workspace: Workspace; readonly sandbox: Sandbox };

/** What a check may look at. `settings`, `subject` and `confined` throw where there is nothing to look at, which the report tells once. */
export type CheckContext = {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly target: () => Promise<TargetModel>;
  readonly commandSandbox: () => Promise<CommandSandbox>;
  readonly signal: AbortSignal;
};

/** One part that is proved. */
export type DoctorCheck = {
  readonly name: string;
  /** It asks the model or its provider. */
  readonly needsNetwork?: boolean;
  run(ground: CheckContext): CheckResult | Promise<CheckResult>;
};

/** It works as it should. */
export const ok = (says: string): CheckResult => ({ standing: 'ok', says });

/** It works less than it could. */
export const warn = (says: string, mend: string): CheckResult => ({ standing: 'warn', says, mend });

/** It does not work. */
export const fail = (says: string, mend: string): CheckResult => ({ standing: 'fail', says, mend });
