// The types of data loss prevention: what is found in a text, which way the text leaves by, and what happens to it.

/** The category of a finding: a secret by its form, personal data, a pattern of the user, or a value that was marked private. */
export type FindingCategory = 'secret' | 'personal' | 'pattern' | 'private';

/** A range of a text that must not leave unseen. */
export type DlpFinding = {
  readonly from: number;
  readonly to: number;
  /** What was found, such as `iban` or `email`. */
  readonly kind: string;
  readonly category: FindingCategory;
};

/** The ways out of a session: requests to models that are not local, calls of tools with an external effect, exports, and answers of the server. */
export const dlpWays = ['model', 'tools', 'exports', 'answers'] as const;
/** One of the ways out. */
export type DlpWay = (typeof dlpWays)[number];

/** The actions, the weakest first. `observe` counts only. */
export const dlpActions = ['off', 'observe', 'redact', 'ask', 'block'] as const;
/** What happens to a finding. */
export type DlpAction = (typeof dlpActions)[number];

/** Finds one kind of personal data. Runs in linear time. */
export type Detector = {
  readonly kind: string;
  /** Returns ranges in the order of the text. */
  readonly find: (text: string) => readonly { readonly from: number; readonly to: number }[];
};

/** An audit fact: what kind, how many, which way and what was done. It never holds a value. */
export type DlpAudit = {
  readonly way: DlpWay;
  readonly action: DlpAction;
  /** How many findings of each kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** The model or tool that the text went to. */
  readonly to?: string;
  /** Set if a detector failed, so that the text was not scanned as a whole. */
  readonly failed?: boolean;
  /** Files in the request that cannot be scanned, such as images. */
  readonly unscanned?: number;
};
