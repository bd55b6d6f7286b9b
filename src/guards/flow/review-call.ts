// Decides about a flagged call in a run without a user from the judgement of a reviewer: a table over risk and authorisation, limits that no judgement lifts, and words of the user that must really be there.
import {
  isObject,
  parseJsonResponse,
  reviewAuthorisations,
  reviewRisks,
  type JsonObject,
  type ReviewAuthorisation,
  type ReviewRisk,
} from '../../core/index.ts';
import type { BlockedDecision } from './flow-question.ts';
import type { FlowState } from './flow-state.ts';
import { normalizeText } from './normalize-text.ts';
import type { FlowCall, FlowDeclarations, FlowEffect, FlowRule, LabelledValue } from './types.ts';

/** What a reviewer judges: the words of the user and the call, and nothing that a tool returned. */
export type ReviewSubject = {
  readonly call: FlowCall;
  readonly rule: FlowRule;
  readonly effect: FlowEffect;
  /** Whether the effect deletes, transfers or changes credentials, or is not known. */
  readonly isDestructive: boolean;
  /** The values for which an approval is needed. */
  readonly values: readonly Pick<LabelledValue, 'parameter' | 'role' | 'value' | 'label'>[];
  readonly userTexts: readonly string[];
};

/** What a reviewer says about a call. */
export type ReviewJudgement = {
  readonly risk: ReviewRisk;
  readonly authorisation: ReviewAuthorisation;
  /** The words of the user that ask for the call; empty if there are none. */
  readonly quotation: string;
  readonly reason: string;
};

/** What the table makes of a judgement. */
export type ReviewVerdict = ReviewJudgement & { readonly isAllowed: boolean };

type Table = Readonly<Record<ReviewRisk, readonly ReviewAuthorisation[]>>;

/** The authorisations that allow a call whose values are the user's or trusted, by risk. */
const ownValues: Table = { low: ['explicit', 'implied'], medium: ['explicit'], high: ['explicit'] };
/** The same for a call with a value that a third party wrote, or that was found nowhere. */
const foreignValues: Table = { low: ['explicit'], medium: ['explicit'], high: [] };

/** The rules whose calls can be reviewed. What a call completes that confirms another one, a reviewer cannot see. */
const reviewableRules: ReadonlySet<FlowRule> = new Set([
  'undeclared-tool',
  'undeclared-parameter',
  'untrusted-value',
  'untrusted-value-not-requested',
  'not-requested',
]);

/** A shorter quotation could be in any text. */
const minQuotationChars = 8;

/** Returns what a reviewer may judge; undefined if no judgement could allow the call. */
export function createReviewSubject(
  state: FlowState,
  { tools }: FlowDeclarations,
  call: FlowCall,
  { type, rule, bad }: BlockedDecision,
): ReviewSubject | undefined {
  if (type === 'deny' || !reviewableRules.has(rule)) return undefined;
  // A reviewer does not see which private data a call can carry out.
  if (bad.some(({ role, value }) => role === 'egress' || state.isRefusedValue(value))) return undefined;
  const declaration = tools.get(call.tool);
  if (declaration?.effect === 'confirm') return undefined;
  const subject: ReviewSubject = {
    call,
    rule,
    effect: declaration?.effect ?? 'external',
    isDestructive: declaration?.destructive ?? declaration === undefined,
    values: bad.map(({ parameter, role, value, label }) => ({ parameter, role, value, label })),
    userTexts: state.userTexts,
  };
  return canBeAllowed(subject) ? subject : undefined;
}

/** Whether the call has a value that a third party wrote, or that was found nowhere. */
export const hasForeignValue = ({ values }: Pick<ReviewSubject, 'values'>): boolean =>
  values.some(({ label }) => label === 'untrusted' || label === 'unknown');

/** The policy found no word of the user that asks for such an effect: a reviewer can call it implied, and not explicit. */
const isUnrequested = ({ rule }: ReviewSubject): boolean =>
  rule === 'not-requested' || rule === 'untrusted-value-not-requested';

const canBeAllowed = (subject: ReviewSubject): boolean =>
  subject.userTexts.some((text) => text.trim() !== '') && isAllowedBy(subject, 'low', 'explicit');

function isAllowedBy(subject: ReviewSubject, risk: ReviewRisk, authorisation: ReviewAuthorisation): boolean {
  const counted = authorisation === 'explicit' && isUnrequested(subject) ? 'implied' : authorisation;
  if (subject.isDestructive && counted !== 'explicit') return false;
  // What a destructive call can do does not depend on what a reviewer says about it.
  const countedRisk = subject.isDestructive ? 'high' : risk;
  return (hasForeignValue(subject) ? foreignValues : ownValues)[countedRisk].includes(counted);
}

/** Decides by the table. An authorisation counts only with words that the user really wrote. */
export function decideReview(subject: ReviewSubject, judgement: ReviewJudgement): ReviewVerdict {
  const { risk, authorisation, quotation, reason } = judgement;
  if (authorisation !== 'none' && !isQuoted(subject.userTexts, quotation))
    return {
      ...judgement,
      authorisation: 'none',
      reason: `The words that it quoted are not words of the user. ${reason}`,
      isAllowed: false,
    };
  return { ...judgement, isAllowed: isAllowedBy(subject, risk, authorisation) };
}

const squeeze = (text: string): string => normalizeText(text).replaceAll(/\s+/g, ' ').trim();

function isQuoted(userTexts: readonly string[], quotation: string): boolean {
  const quoted = squeeze(quotation);
  return quoted.length >= minQuotationChars && userTexts.some((text) => squeeze(text).includes(quoted));
}

/** The JSON Schema of a judgement. */
export const judgementSchema: JsonObject = {
  type: 'object',
  properties: {
    reason: { type: 'string', description: 'one sentence' },
    quotation: {
      type: 'string',
      description: 'the words of the user that ask for the call, character by character; empty if there are none',
    },
    authorisation: { type: 'string', enum: reviewAuthorisations },
    risk: { type: 'string', enum: reviewRisks },
  },
  required: ['reason', 'quotation', 'authorisation', 'risk'],
  additionalProperties: false,
};

const maxReasonChars = 600;
const maxQuotationChars = 2000;

/** Parses a judgement; undefined if it is not exactly one. */
export function parseReviewJudgement(text: string): ReviewJudgement | undefined {
  const value = parseJsonResponse(text);
  if (!isObject(value) || Object.keys(value).length !== 4) return undefined;
  const { reason, quotation } = value;
  const risk = reviewRisks.find((each) => each === value['risk']);
  const authorisation = reviewAuthorisations.find((each) => each === value['authorisation']);
  if (risk === undefined || authorisation === undefined) return undefined;
  if (typeof reason !== 'string' || typeof quotation !== 'string' || quotation.length > maxQuotationChars)
    return undefined;
  return { risk, authorisation, quotation, reason: reason.slice(0, maxReasonChars) };
}
