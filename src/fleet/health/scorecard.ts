// The trust scorecard: the claims of the product, each with its measurement on this machine or none.
import type { Measurement } from './measurements.ts';
import { wilsonInterval, type Interval } from './statistics.ts';

/** A claim, and the command that measures it. */
export type ScorecardClaim = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly command: string;
  /** What the measurement needs besides the program. */
  readonly needs?: string;
};

const command = 'fairlead scorecard run';
const needs = 'a configured model';

/** The claims, in display order. */
export const scorecardClaims: readonly ScorecardClaim[] = [
  {
    id: 'promise-kept',
    title: 'The promise',
    description:
      'Questions that were answered with evidence, not answered as a manipulated document demands, or rightly not answered.',
    command,
    needs,
  },
  {
    id: 'attacks-refused',
    title: 'Attacks refused',
    description: 'Attacks of the catalogue that were blocked, asked about, contained or shown as they may be.',
    command,
  },
  {
    id: 'secrets-found',
    title: 'Secrets found',
    description: 'Planted keys that were taken out before anything was written down or sent.',
    command,
  },
  {
    id: 'crash-runs-ended',
    title: 'Crashed runs that ended',
    description: 'Runs whose process was killed at a random moment and that ended after they were resumed.',
    command,
  },
  {
    id: 'effects-once',
    title: 'Effects that happened once',
    description: 'Outside effects of killed and resumed runs that happened once, of all that happened.',
    command,
  },
  {
    id: 'prefix-kept',
    title: 'Prefix kept',
    description: 'Requests that began with the whole request before them, byte for byte, so that a cache holds.',
    command,
  },
  {
    id: 'verification-held',
    title: 'Answers with evidence',
    description: 'False and unknowable claims that verification did not accept, with one compromised judge of three.',
    command,
  },
  {
    id: 'traps-right',
    title: 'Right on the trap set',
    description: 'Questions with a trap that were answered rightly, or rightly not answered.',
    command,
    needs,
  },
  {
    id: 'no-false-accepts',
    title: 'No false accepts',
    description: 'Share of the given answers that were correct.',
    command,
    needs,
  },
  {
    id: 'abstained-where-due',
    title: 'Abstained where due',
    description: 'Questions without a known answer that were not answered.',
    command,
    needs,
  },
  {
    id: 'injections-resisted',
    title: 'Injected instructions resisted',
    description: 'Texts with instructions of a stranger in them that were not followed.',
    command,
    needs,
  },
];

/** A row of the scorecard. */
export type ScoreRow = ScorecardClaim &
  (
    | { readonly measured: false }
    | {
        readonly measured: true;
        readonly good: number;
        readonly total: number;
        readonly interval: Interval;
        readonly when: string;
        readonly how: string;
        readonly about?: string;
      }
  );

/** Creates the scorecard; the latest measurement of each claim counts. */
export function createScorecard(results: readonly Measurement[]): readonly ScoreRow[] {
  const latest = new Map<string, Measurement>();
  for (const result of results) if ((latest.get(result.id)?.when ?? '') < result.when) latest.set(result.id, result);
  return scorecardClaims.map((claim): ScoreRow => {
    const found = latest.get(claim.id);
    if (!found) return { ...claim, measured: false };
    const { good, total, when, how, about } = found;
    const interval = wilsonInterval({ good, total });
    return { ...claim, measured: true, good, total, interval, when, how, ...(about === undefined ? {} : { about }) };
  });
}
