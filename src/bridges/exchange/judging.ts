// What the doors of guided requests share: the request with its additions, the verdict on an answer, and what is kept of both.
import {
  messageToolCalls,
  FairleadError,
  fromFailure,
  errorMessage,
  toFailure,
  type JsonObject,
} from '../../core/index.ts';
import type { Talk } from '../conversations/conversations.ts';
import type { Dialect, Told } from '../dialects/dialect.ts';
import type { Addition } from '../guide/given.ts';
import type { Guidance } from '../guide/guide.ts';

/** What came from the model's side; `head` is whatever the door needs to pass it on. */
export type Arrived<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head: Head;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** What the caller gets. Without a head it is ours, not the model's. */
export type Reply<Head> = {
  readonly status: number;
  readonly contentType: string;
  readonly head?: Head;
  readonly streams: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** A request and the ways to go on with it. */
export type Exchange<Head> = {
  readonly dialect: Dialect;
  readonly request: JsonObject;
  /** The request as it came, sent as it is where nothing is added. */
  readonly raw: Uint8Array;
  /** Whether the caller reads events. */
  readonly wantsEvents: boolean;
  /** Whether the words of an answer wait too, because checks may refuse them. */
  readonly holdsWords: boolean;
  /** The guided conversation; or why there is none, and then no call gets through. */
  readonly talk: Talk | FairleadError;
  readonly send: (body: Uint8Array) => Promise<Arrived<Head>>;
  /** Says what went wrong and was not the caller's to know. */
  readonly tell: (sentence: string) => void;
};

/** What the guide says to the request. */
export const firstGuidance = ({ talk }: Pick<Exchange<unknown>, 'talk'>): Guidance =>
  talk instanceof FairleadError ? { type: 'send', additions: [], refused: [] } : talk.guidance;

/** The request with what it is added, or as it came. */
export function bodyFor(
  { dialect, request, raw, talk }: Pick<Exchange<unknown>, 'dialect' | 'request' | 'raw' | 'talk'>,
  { additions }: Guidance & { readonly type: 'send' },
): Uint8Array {
  const before = talk instanceof FairleadError ? 0 : talk.before;
  const here = additions.flatMap((each) => inPlace(each, before));
  return here.length === 0 ? raw : Buffer.from(JSON.stringify(dialect.withAdditions(request, here)));
}

/** Of what the provider keeps, it has the additions too. The words of the system it wants each time. */
function inPlace(addition: Addition, before: number): readonly Addition[] {
  if (addition.type === 'system' || before === 0) return [addition];
  return addition.after < before ? [] : [{ ...addition, after: addition.after - before }];
}

/** What the guide says to an answer. Where it cannot say anything, words pass and calls do not. */
export async function judged(
  { talk, tell }: Pick<Exchange<unknown>, 'talk' | 'tell'>,
  answer: Told,
): Promise<Guidance> {
  const calls = messageToolCalls(answer.message).length;
  try {
    if (talk instanceof FairleadError) throw talk;
    return await talk.guide.after(answer);
  } catch (error) {
    if (calls > 0) throw refusal(error);
    tell(`The guide failed, and words alone passed without it: ${errorMessage(error)}`);
    return { type: 'pass' };
  }
}

const refusalCode = 'bridge/guide-failed';

const refusal = (cause: unknown): FairleadError =>
  new FairleadError(
    refusalCode,
    `Tool calls of this answer were held back because the guide failed: ${errorMessage(cause)}`,
    { blame: 'harness', retry: true, cause },
  );

/** Says that calls were held back because they cannot be read. */
export const unreadCalls = (): FairleadError => refusal('it cannot read them.');

/** Whether this says that calls were held back because nobody could judge them. */
export const isRefusal = (error: unknown): error is FairleadError =>
  error instanceof FairleadError && error.code === refusalCode;

/** Keeps that the caller was given this answer. */
export function passed({ talk }: Pick<Exchange<unknown>, 'talk'>, { message, id }: Told): void {
  if (!(talk instanceof FairleadError)) talk.passed(message, id);
}

/** Keeps that no answer came. A log that fails is no reason to fail the caller. */
export async function told({ talk, tell }: Pick<Exchange<unknown>, 'talk' | 'tell'>, why: string): Promise<void> {
  if (talk instanceof FairleadError) return;
  await talk.guide.failed(why).catch((error: unknown) => tell(errorMessage(error)));
}

/** Why a conversation could not be asked. Calls are held back then; a name that can be none is the caller's own mistake. */
export function unasked(error: unknown): FairleadError {
  const failed = error instanceof FairleadError ? error : fromFailure(toFailure(error));
  if (failed.code === 'bridge/bad-session') throw failed;
  return failed;
}

/** The conversation is free for its next request. */
export function over({ talk }: Pick<Exchange<unknown>, 'talk'>): void {
  if (!(talk instanceof FairleadError)) talk.done();
}
