// Runs a verification over traps and counts what it accepts wrongly and rightly.
import { binomialInterval } from '../binomial.ts';
import { splitClaims } from '../claims/index.ts';
import type { Claim, ClaimVerdict, Evidence, VerifyContext } from '../types.ts';
import { defaultVerifiers, runVerifiers } from '../verifiers/index.ts';
import { computedTraps } from './computed-traps.ts';
import { sourceTraps } from './source-traps.ts';
import { trapKinds, type TrapKind, type VerificationTrap } from './traps.ts';

/** The built-in trap set of verification. */
export const verificationTraps: readonly VerificationTrap[] = [...computedTraps, ...sourceTraps];

/** Decides one claim. */
export type VerifyClaim = (claim: Claim, context: VerifyContext) => Promise<ClaimVerdict | undefined>;

/** A share with its exact 95 % interval. */
export type TrapRate = {
  readonly count: number;
  readonly total: number;
  readonly interval: readonly [low: number, high: number];
};

/** What a verification did with traps. */
export type TrapReport = {
  /** Claims that are false or unknowable and were accepted. */
  readonly falseAccepts: TrapRate;
  /** Claims that are true and were accepted. */
  readonly trueAccepts: TrapRate;
  /** Claims that are true and were contradicted. */
  readonly falseContradictions: TrapRate;
  /** Claims that are false and were contradicted. */
  readonly trueContradictions: TrapRate;
  /** The traps that were accepted wrongly. */
  readonly wronglyAccepted: readonly VerificationTrap[];
  /** The traps that were contradicted wrongly. */
  readonly wronglyContradicted: readonly VerificationTrap[];
  /** True claims that were neither accepted nor contradicted. */
  readonly missed: readonly VerificationTrap[];
  /** Accepted and all traps of each kind that must not be accepted. */
  readonly kinds: readonly { readonly kind: TrapKind; readonly accepted: number; readonly total: number }[];
};

const verifyByDefault: VerifyClaim = async (claim, context) =>
  (await runVerifiers(defaultVerifiers, claim, context)).verdict;

/** Runs traps one after the other. A trap counts as accepted if the whole text is supported as one claim, or if each of its claims is. */
export async function measureTraps(
  traps: readonly VerificationTrap[],
  options: { readonly verify?: VerifyClaim; readonly signal?: AbortSignal } = {},
): Promise<TrapReport> {
  const { verify = verifyByDefault, signal = new AbortController().signal } = options;
  const results: { readonly trap: VerificationTrap; readonly verdict: 'accepted' | 'contradicted' | 'open' }[] = [];
  for (const trap of traps) results.push({ trap, verdict: await runTrap(trap, verify, signal) });
  const ofLabel = (...labels: readonly string[]) => results.filter(({ trap }) => labels.includes(trap.label));
  const wrong = ofLabel('false', 'unknowable');
  const right = ofLabel('true');
  const select = (list: typeof results, wanted: string) =>
    list.filter(({ verdict }) => verdict === wanted).map(({ trap }) => trap);
  return {
    falseAccepts: toRate(select(wrong, 'accepted').length, wrong.length),
    trueAccepts: toRate(select(right, 'accepted').length, right.length),
    falseContradictions: toRate(select(right, 'contradicted').length, right.length),
    trueContradictions: toRate(select(ofLabel('false'), 'contradicted').length, ofLabel('false').length),
    wronglyAccepted: select(wrong, 'accepted'),
    wronglyContradicted: select(right, 'contradicted'),
    missed: select(right, 'open'),
    kinds: trapKinds.map((kind) => {
      const list = wrong.filter(({ trap }) => trap.kind === kind);
      return { kind, accepted: select(list, 'accepted').length, total: list.length };
    }),
  };
}

const toRate = (count: number, total: number): TrapRate => ({ count, total, interval: binomialInterval(count, total) });

async function runTrap(
  trap: VerificationTrap,
  verify: VerifyClaim,
  signal: AbortSignal,
): Promise<'accepted' | 'contradicted' | 'open'> {
  const { claim: text, question } = trap;
  const evidence: readonly Evidence[] = trap.evidence.map((each, index) => ({
    source: { type: 'given', name: `evidence ${index + 1}` },
    text: each,
  }));
  const context: VerifyContext = { answer: text, evidence, signal, ...(question !== undefined && { question }) };
  const whole = await verify({ id: 'c1', text, span: { start: 0, end: text.length } }, context);
  if (whole?.type === 'supported') return 'accepted';
  const verdicts: (ClaimVerdict | undefined)[] = [];
  for (const claim of splitClaims(text)) verdicts.push(await verify(claim, context));
  if (verdicts.length > 0 && verdicts.every((verdict) => verdict?.type === 'supported')) return 'accepted';
  return [whole, ...verdicts].some((verdict) => verdict?.type === 'contradicted') ? 'contradicted' : 'open';
}

/** Formats a report for people. */
export function formatTrapReport(report: TrapReport): string {
  const line = (title: string, { count, total, interval: [low, high] }: TrapRate): string =>
    `${title}: ${count} of ${total} (95 % interval ${formatShare(low)} to ${formatShare(high)})`;
  return [
    line('false accepts', report.falseAccepts),
    line('true accepts (coverage)', report.trueAccepts),
    line('false claims contradicted', report.trueContradictions),
    line('true claims contradicted', report.falseContradictions),
    ...report.kinds.map(({ kind, accepted, total }) => `  ${kind}: ${accepted} of ${total} accepted wrongly`),
    ...report.wronglyAccepted.map(({ id, claim }) => `accepted wrongly: ${id}: ${claim}`),
    ...report.wronglyContradicted.map(({ id, claim }) => `contradicted wrongly: ${id}: ${claim}`),
    ...report.missed.map(({ id, claim }) => `true and not accepted: ${id}: ${claim}`),
  ].join('\n');
}

const formatShare = (share: number): string => `${(share * 100).toFixed(1)} %`;
