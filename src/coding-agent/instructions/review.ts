// Decides which instruction texts of a project count. What did not change is decided here; the rest is loaded for the first change.
import { errorMessage } from '../../core/index.ts';
import { isCounted, openRecords, readOnce, type FolderRecords, type InstructionText } from './counted-texts.ts';

/** A changed instruction file; `before` is the text that counted last, absent if the file is new or its text was too long to keep. */
export type InstructionChange = { readonly file: string; readonly before?: string; readonly after: string };

/** Asks the user whether changed instruction files count from now on; undefined if no user can answer. */
export type AcceptInstructions = (changes: readonly InstructionChange[]) => Promise<boolean | undefined>;

/** The options of `reviewInstructions`. */
export type InstructionReviewOptions = {
  readonly stateDir: string;
  readonly cwd: string;
  /** The directories that a session in `cwd` can change: `cwd` itself and the root of its repository. */
  readonly sessionFolders: readonly string[];
  /** Asks the user; without it no change counts. */
  readonly accept?: AcceptInstructions | undefined;
  /** Whether the user is asked again about a change that was refused. */
  readonly asksAgain?: boolean;
};

/** The outcome of a review. */
export type InstructionReview = {
  /** The texts that do not count, each with the earlier text that counts instead; empty if there is none. */
  readonly earlier: ReadonlyMap<InstructionText, string>;
  /** Whether the user was not asked about a change that does not count. */
  readonly isPending: boolean;
  /** One sentence for each text that does not count. */
  readonly problems: readonly string[];
};

/** Compares texts with those that counted last. The first version in a directory counts; a change counts after the user accepted it. */
export async function reviewInstructions(
  texts: readonly InstructionText[],
  options: InstructionReviewOptions,
): Promise<InstructionReview> {
  const records = openRecords(options.stateDir);
  const read = readOnce(records);
  const isUnchanged = texts.every((text) => isCounted(read(text.folder), text));
  const review = isUnchanged
    ? unchanged
    : await (await import('./review-changes.ts')).reviewChanges(texts, records, options);
  return { ...review, problems: [...review.problems, ...markSession(records, options)] };
}

const unchanged: InstructionReview = { earlier: new Map(), isPending: false, problems: [] };

/** Records that a session works in these directories: what appears in them later is a change. */
function markSession(records: FolderRecords, { sessionFolders }: InstructionReviewOptions): readonly string[] {
  try {
    for (const folder of sessionFolders) {
      const record = records.read(folder) ?? { folder, files: {} };
      if (record.since === undefined) records.save({ ...record, since: Date.now() });
    }
    return [];
  } catch (error) {
    return [`A later change of instruction files will not be noticed. ${errorMessage(error)}`];
  }
}
