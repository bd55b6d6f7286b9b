// The report of a verification: the answer with citations and struck claims, the verdict of each claim with its evidence, judges, cost and time.
import type { JSX } from 'preact';
import type {
  CheckedClaim,
  ClaimVerdict,
  DecidedBy,
  Evidence,
  EvidenceSource,
  VerifyOutcome,
} from '../../../src/checks/index.ts';
import type { VerificationStatus } from '../api/verification-types.ts';
import { formatCount, formatDuration, formatPercent, formatUsd } from '../text/format.ts';
import type { IconName } from '../text/icon-shapes.ts';
import { EscapedText } from './escaped-text.tsx';
import { Icon } from './icon.tsx';
import { Markdown } from './markdown-view.tsx';

const outcomeNames: Readonly<Record<VerifyOutcome, string>> = {
  verified: 'Verified',
  abstained: 'I don’t know',
  'not-verified': 'Not verified',
};

/** The progress of a verification that has no report yet. */
export function VerificationProgress({
  progress,
}: {
  readonly progress: VerificationStatus['progress'] | undefined;
}): JSX.Element {
  return (
    <div class="verify-progress" role="status">
      <p>
        {progress === undefined ? 'Waiting for a worker…' : <EscapedText text={progress.text} />}
        {progress && progress.total > 0 ? ` (${progress.done} of ${progress.total})` : ''}
      </p>
      {progress && progress.total > 0 ? (
        <progress max={progress.total} value={progress.done} aria-label="Verified claims" />
      ) : null}
    </div>
  );
}

/** The report of a verification. */
export function VerificationView({
  report,
}: {
  readonly report: NonNullable<VerificationStatus['report']>;
}): JSX.Element {
  const { outcome, why, answer, claims, citations, judges, quorum, spent, uncertainty } = report;
  const numbers = new Map<string, readonly number[]>(
    claims.map(({ id }) => [id, citations.filter((each) => each.claims.includes(id)).map(({ number }) => number)]),
  );
  return (
    <div class="verification">
      <p class={`verify-outcome ${outcome}`}>
        <Icon name={outcome === 'verified' ? 'check' : 'alert'} />
        <strong>{outcomeNames[outcome]}</strong>
        <span>
          <EscapedText text={why} />
        </span>
      </p>
      <section>
        <h2>Answer</h2>
        {answer === '' ? <p class="hint">There is no answer.</p> : <Markdown text={answer} />}
        {answer.includes('~~') ? <p class="hint">Claims that are not supported are struck out.</p> : null}
      </section>
      {citations.length === 0 ? null : (
        <section>
          <h2>Sources</h2>
          <ol class="citations">
            {citations.map(({ number, evidence }) => (
              <li key={number} value={number} id={`citation-${number}`}>
                <EvidenceText evidence={evidence} />
              </li>
            ))}
          </ol>
        </section>
      )}
      {claims.length === 0 ? null : (
        <section>
          <h2>Claims</h2>
          <ul class="claims">
            {claims.map((claim) => (
              <ClaimItem key={claim.id} claim={claim} numbers={numbers.get(claim.id) ?? []} />
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>Judges and cost</h2>
        <dl class="verify-facts">
          <dt>Judges</dt>
          <dd>
            {judges.length === 0
              ? 'none'
              : judges
                  .map(({ name, family, counted }) => `${name} (${family})${counted ? '' : ', not counted'}`)
                  .join('; ')}
            , quorum {quorum}
          </dd>
          {uncertainty === undefined ? null : (
            <>
              <dt>Samples</dt>
              <dd>
                <EscapedText text={uncertainty.why} />
                {uncertainty.confidence === undefined ? '' : ` Confidence ${formatPercent(uncertainty.confidence)}.`}
              </dd>
            </>
          )}
          <dt>Cost</dt>
          <dd>
            {formatUsd(spent.usd)}
            {spent.requestsWithoutPrice > 0
              ? ` and ${formatCount(spent.requestsWithoutPrice)} requests without a known price`
              : ''}
            , {formatCount(spent.requests)} requests, {formatCount(spent.input + spent.output)} tokens
          </dd>
          <dt>Time</dt>
          <dd>{formatDuration(spent.ms)}</dd>
        </dl>
      </section>
    </div>
  );
}

const verdictNames: Readonly<Record<ClaimVerdict['type'], { readonly name: string; readonly icon: IconName }>> = {
  supported: { name: 'Supported', icon: 'check' },
  contradicted: { name: 'Contradicted', icon: 'close' },
  unverifiable: { name: 'No evidence', icon: 'alert' },
};

const decisions: Readonly<Record<DecidedBy, string>> = {
  exact: 'by exact comparison',
  scorer: 'by the statistical scorer',
  model: 'by other models',
  person: 'by a person',
};

function ClaimItem({
  claim,
  numbers,
}: {
  readonly claim: CheckedClaim;
  readonly numbers: readonly number[];
}): JSX.Element {
  const { verdict, votes = [], score } = claim;
  const { name, icon } = verdictNames[verdict.type];
  return (
    <li class={`claim ${verdict.type}`}>
      <p class="claim-verdict">
        <Icon name={icon} size={12} /> {name}
      </p>
      <div class="claim-body">
        <p class="claim-text">
          {verdict.type === 'supported' ? (
            <EscapedText text={claim.text} />
          ) : (
            <del>
              <EscapedText text={claim.text} />
            </del>
          )}
          {numbers.map((number) => (
            <span key={number} class="citation-number">
              {' '}
              [{number}]
            </span>
          ))}
        </p>
        <p class="hint">
          <EscapedText text={verdict.why} />
          {verdict.type === 'unverifiable' ? '' : ` Decided ${decisions[verdict.decidedBy]}.`}
          {score === undefined ? '' : ` Scorer: ${formatPercent(score)}, a signal only.`}
        </p>
        {verdict.type === 'contradicted' ? (
          <ul class="evidence">
            {verdict.evidence.map((each, i) => (
              <li key={i}>
                <EvidenceText evidence={each} />
              </li>
            ))}
          </ul>
        ) : null}
        {votes.length === 0 ? null : (
          <details>
            <summary>
              {votes.length} {votes.length === 1 ? 'vote' : 'votes'}
              <span class="unseen"> about {claim.id}</span>
            </summary>
            <ul class="votes">
              {votes.map(({ judge, vote, why }) => (
                <li key={judge}>
                  <strong>{judge}</strong> {vote === 'none' ? 'no vote' : vote.replace('-', ' ')}:{' '}
                  <EscapedText text={why} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}

const maxQuotation = 400;

function EvidenceText({ evidence }: { readonly evidence: Evidence }): JSX.Element {
  const { source, text, span } = evidence;
  const quoted = span ? text.slice(span.start, span.end) : text;
  const shown = quoted.length > maxQuotation ? `${quoted.slice(0, maxQuotation)}…` : quoted;
  return (
    <>
      <span class="source">{formatSource(source)}</span>{' '}
      <q>
        <EscapedText text={shown.trim()} />
      </q>
    </>
  );
}

function formatSource(source: EvidenceSource): string {
  switch (source.type) {
    case 'document':
      return `${source.path}:${source.lines[0]}–${source.lines[1]} (sha256 ${source.hash.slice(0, 12)})`;
    case 'event':
      return `event ${source.seq} of the session`;
    case 'given':
      return source.name;
    case 'model':
      return `answer of ${source.name}`;
    case 'computed':
      return `computed by ${source.by}`;
  }
}
