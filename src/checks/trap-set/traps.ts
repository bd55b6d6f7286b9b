// The types of the trap set of verification, and the parser of trap files.
import { FairleadError, isObject } from '../../core/index.ts';

/** What a trap tries. */
export type TrapKind = (typeof trapKinds)[number];

/** The kinds of traps. */
export const trapKinds = [
  'arithmetic',
  'unit',
  'date',
  'quotation',
  'number-swapped',
  'entity-swapped',
  'negation',
  'forged-citation',
  'injected-evidence',
  'unsupported',
  'two-statements',
] as const;

/** Whether a claim is true by its evidence or by computation, false, or cannot be known from the evidence. */
export type TrapLabel = 'true' | 'false' | 'unknowable';

/** A labelled claim with the evidence that a verification has. Only a claim with the label `true` may be accepted. */
export type VerificationTrap = {
  readonly id: string;
  readonly kind: TrapKind;
  readonly label: TrapLabel;
  /** The claim, or an answer of several claims. */
  readonly claim: string;
  readonly evidence: readonly string[];
  readonly question?: string;
};

/** A row of the built-in set: the label, the claim, and the texts of the evidence. */
export type TrapRow = readonly [label: TrapLabel, claim: string, ...evidence: readonly string[]];

/** Creates the traps of one kind from rows. */
export const toTraps = (kind: TrapKind, rows: readonly TrapRow[]): readonly VerificationTrap[] =>
  rows.map(([label, claim, ...evidence], index) => ({ id: `${kind}-${index + 1}`, kind, label, claim, evidence }));

const maxTraps = 100_000;

/** Parses a file of traps: one JSON object in a line, with `kind`, `label`, `claim`, and optionally `id`, `evidence` and `question`. */
export function parseTraps(text: string): readonly VerificationTrap[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > maxTraps) throw invalidTrap(lines.length, `has more than ${maxTraps} lines`);
  return lines.map((line, index) => parseTrap(line, index + 1));
}

function parseTrap(line: string, number: number): VerificationTrap {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalidTrap(number, 'is not JSON');
  }
  if (!isObject(value)) throw invalidTrap(number, 'is not an object');
  const { kind, label, claim, question, id } = value;
  const evidence = value['evidence'] ?? [];
  const knownKind = trapKinds.find((each) => each === kind);
  if (!knownKind) throw invalidTrap(number, `has no kind of ${trapKinds.join(', ')}`);
  if (label !== 'true' && label !== 'false' && label !== 'unknowable')
    throw invalidTrap(number, 'has no label true, false or unknowable');
  if (typeof claim !== 'string' || claim === '') throw invalidTrap(number, 'has no claim');
  if (!Array.isArray(evidence) || !evidence.every((each) => typeof each === 'string'))
    throw invalidTrap(number, 'has evidence that is no list of texts');
  return {
    id: typeof id === 'string' ? id : `line-${number}`,
    kind: knownKind,
    label,
    claim,
    evidence,
    ...(typeof question === 'string' && { question }),
  };
}

const invalidTrap = (line: number, what: string): FairleadError =>
  new FairleadError('verify/invalid-trap', `Line ${line} of the traps ${what}.`, {
    blame: 'user',
    hint: 'A line is {"kind": "arithmetic", "label": "false", "claim": "2 + 2 = 5", "evidence": []}.',
  });
