// The types of verification: claims, evidence, verdicts, verifiers, judges and reports.
import type { AskModel, Event, Price } from '../core/index.ts';

export type { AskModel } from '../core/index.ts';

/** A part of a text: UTF-16 offsets, `end` exclusive. */
export type TextSpan = { readonly start: number; readonly end: number };

/** One statement of an answer that can be true or false alone. */
export type Claim = {
  /** Unique in its answer: `c1`, `c2` and so on. */
  readonly id: string;
  /** The statement; the text of the span, or a rewrite of it that can be understood alone. */
  readonly text: string;
  /** Where the answer makes the statement. */
  readonly span: TextSpan;
  /** `code`: a fenced block of code, with its fences. */
  readonly kind?: 'code';
};

/** Where evidence comes from. */
export type EvidenceSource =
  /** Lines of a file, with the sha256 of the whole file at the time it was read. */
  | {
      readonly type: 'document';
      readonly path: string;
      readonly lines: readonly [number, number];
      readonly hash: string;
    }
  /** An event of a session log, such as the result of a tool call. */
  | { readonly type: 'event'; readonly seq: number; readonly session?: string }
  /** A text that the caller of the verification gave. */
  | { readonly type: 'given'; readonly name: string }
  /** What another model answered to the question without sight of the answer. */
  | { readonly type: 'model'; readonly name: string }
  /** A value that a verifier computed itself, such as a sum. */
  | { readonly type: 'computed'; readonly by: string };

/** A text that a claim is compared with. */
export type Evidence = {
  readonly source: EvidenceSource;
  /** The text, exactly as it is in its source. */
  readonly text: string;
  /** The part of `text` that decides; absent if the whole text does. */
  readonly span?: TextSpan;
  /** The author of the answer could choose the text, as the output of a command: it may contradict a claim, and alone it never supports one. */
  readonly isChosen?: true;
  /** Returns the document that the text is a part of; absent if the text is complete, or if its document is not known. A function, so that a report does not contain the document. */
  readonly within?: () => EvidenceDocument;
};

/** The document that a piece of evidence is a part of: what stands around a sentence says whether it is asserted. */
export type EvidenceDocument = {
  /** The whole text. The same object for all parts of a document. */
  readonly whole: Evidence;
  /** Where the text of the part starts in the whole. */
  readonly start: number;
  /** A title that is not in the text, such as that of a page or a record. */
  readonly title?: string;
};

/** What decided a verdict: an exact comparison, the statistical scorer, judge models, or a person. */
export type DecidedBy = 'exact' | 'scorer' | 'model' | 'person';

/** The verdict of a claim. A claim that is supported or contradicted names the evidence for that. */
export type ClaimVerdict =
  | {
      readonly type: 'supported' | 'contradicted';
      readonly decidedBy: DecidedBy;
      /** The name of the verifier, or of the judges. */
      readonly verifier: string;
      readonly evidence: readonly [Evidence, ...Evidence[]];
      readonly why: string;
    }
  | { readonly type: 'unverifiable'; readonly why: string; readonly evidence?: readonly Evidence[] };

/** A claim and its verdict. */
export type CheckedClaim = Claim & {
  readonly verdict: ClaimVerdict;
  /** The votes of judges, if judges were asked. */
  readonly votes?: readonly JudgeVote[];
  /** The probability of the statistical scorer, from 0 to 1; a signal that alone never supports a claim. */
  readonly score?: number;
};

/** What a verifier may read. */
export type VerifyContext = {
  /** The question that the answer is for. */
  readonly question?: string;
  /** The complete answer. */
  readonly answer: string;
  /** The evidence for this claim. */
  readonly evidence: readonly Evidence[];
  /** The events of the session, oldest first. */
  readonly events?: readonly Event[];
  /** Whether a path exists in the workspace, or undefined if it is not looked up, for example outside of it; absent if the verification has no workspace. */
  readonly fileExists?: (path: string) => Promise<boolean | undefined>;
  /** Runs a command in the sandbox of the workspace, after the gates; absent if commands may not run. */
  readonly runCommand?: (
    command: string,
    signal: AbortSignal,
  ) => Promise<{ readonly exitCode: number; readonly output: string }>;
  readonly signal: AbortSignal;
};

/** Decides claims of one kind. A verifier that throws has not decided. */
export type Verifier = {
  readonly name: string;
  /** Whether this verifier can say something about the claim. Must be cheap. */
  handles(claim: Claim, context: VerifyContext): boolean;
  /** Returns the verdict; undefined leaves the claim to the next verifier. */
  verify(claim: Claim, context: VerifyContext): ClaimVerdict | undefined | Promise<ClaimVerdict | undefined>;
};

/** Finds evidence for a text, best first. */
export type EvidenceSearch = (
  query: string,
  options: { readonly limit: number; readonly signal: AbortSignal },
) => Promise<readonly Evidence[]>;

/** A model of verification: an author of answers, or a judge of claims. */
export type VerifyModel = {
  /** The name, such as `anthropic/claude-opus-4.8`. */
  readonly name: string;
  /** The family of the model, such as `claude`. A judge of the family of the author does not count. */
  readonly family: string;
  /** The price, by which a budget in dollars reserves the cost of a request; without it such requests are sent one after another. */
  readonly price?: Price;
  readonly ask: AskModel;
};

/** The vote of one judge about one claim. `none`: the judge failed, or its answer could not be parsed. */
export type JudgeVote = {
  readonly judge: string;
  readonly vote: 'supported' | 'contradicted' | 'cannot-tell' | 'none';
  readonly why: string;
};
