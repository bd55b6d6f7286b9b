// The form of the wordings of action claims, and the entries of their short logs.

/** An entry of a short log. */
export type Entry = {
  readonly path?: string;
  readonly before?: boolean;
  readonly after?: boolean;
  readonly command?: string;
  readonly code?: number;
  readonly output?: string;
};

/** A short log, statements that it contradicts, and statements that it does not contradict. */
export type Wordings = {
  readonly log: readonly Entry[];
  readonly wrong: readonly string[];
  readonly right: readonly string[];
};

/** A file that was edited. */
export const edited = (path: string): Entry => ({ path, before: true, after: true });
/** A file that was created. */
export const created = (path: string): Entry => ({ path, before: false, after: true });
/** A file that was deleted. */
export const deleted = (path: string): Entry => ({ path, before: true, after: false });
/** A command that ran. */
export const ran = (command: string, code: number, output: string): Entry => ({ command, code, output });
