// What a check of the doctor is: a name and a function that looks at one part and says how it stands.
import type { FairleadError, Provider, Workspace } from '../../core/index.ts';
import type { Sandbox } from '../../guards/index.ts';
import type { Chosen } from '../conversation/model.ts';
import type { Whence } from '../known-models/index.ts';
import type { Settings } from '../settings/index.ts';

/** How a part stands, and how to mend it where it does not. */
export type Finding = {
  readonly standing: 'ok' | 'warn' | 'fail';
  readonly says: string;
  readonly mend?: string;
};

/** The model that is looked at. */
export type Subject = {
  /** Where its provider is; nothing for a stand-in and for the embedded model, which are nowhere else. */
  readonly place: Whence | undefined;
  /** Nothing where no model can be told. */
  readonly chosen: Chosen | undefined;
  /** Why the model that was asked for is none. */
  readonly missing?: FairleadError;
  /** How it came to be this one. */
  readonly because: string;
  /** Asks its provider, once: what it said, or the error that every check meets which needs it; nothing where there is none to ask. */
  readonly reach: () => Promise<string | undefined>;
  /** Opens it, once. */
  readonly open: () => Promise<Provider>;
};

/** A working folder, and what the model's commands run in there. */
export type Confined = { readonly workspace: Workspace; readonly sandbox: Sandbox };

/** What a check may look at. `settings`, `subject` and `confined` throw where there is nothing to look at, which the report tells once. */
export type Ground = {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly subject: () => Promise<Subject>;
  readonly confined: () => Promise<Confined>;
  readonly signal: AbortSignal;
};

/** One part that is proved. */
export type DoctorCheck = {
  readonly name: string;
  /** It asks the model or its provider. */
  readonly online?: boolean;
  run(ground: Ground): Finding | Promise<Finding>;
};

/** It works as it should. */
export const ok = (says: string): Finding => ({ standing: 'ok', says });

/** It works less than it could. */
export const warn = (says: string, mend: string): Finding => ({ standing: 'warn', says, mend });

/** It does not work. */
export const fail = (says: string, mend: string): Finding => ({ standing: 'fail', says, mend });
