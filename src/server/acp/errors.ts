// What went wrong, as an error of the protocol: one sentence for the person, a code for the program.
import { RequestError } from '@agentclientprotocol/sdk';
import { FairleadError, fromFailure, errorMessage, type RunState, formatError } from '../../core/index.ts';

/** An error as the protocol tells it. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (!(error instanceof FairleadError)) return new RequestError(-32603, errorMessage(error));
  const code = error.code === 'session/unknown' ? -32002 : error.blame === 'user' ? -32602 : -32603;
  return new RequestError(code, formatError(error), { code: error.code });
}

/** A handler whose errors are told in the words of the protocol. */
export const withRequestErrors =
  <Context, Response>(work: (context: Context) => Response | Promise<Response>) =>
  async (context: Context): Promise<Response> => {
    try {
      return await work(context);
    } catch (error) {
      throw toRequestError(error);
    }
  };

/** How a run ended, as far as both versions of the protocol have a word for it. */
export type AcpStopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'cancelled';

/** The protocol's word for how a run ended; an error where it has none. */
export function toAcpStopReason({ ended }: RunState): AcpStopReason | RequestError {
  switch (ended?.reason) {
    case undefined:
    case 'answered':
    case 'task-complete':
    case 'abstained':
      return 'end_turn';
    case 'truncated':
      return 'max_tokens';
    case 'max-turns':
    case 'token-budget':
    case 'money-budget':
    case 'call-budget':
    case 'time':
      return 'max_turn_requests';
    case 'cancelled':
      return 'cancelled';
    case 'provider-error':
    case 'error-threshold':
    case 'stuck':
    case 'rule':
    case 'kill-switch': {
      const { reason, detail, error } = ended;
      const why = error ? formatError(fromFailure(error)) : (detail ?? '');
      return new RequestError(-32603, `The run stopped: ${reason}. ${why}`.trim(), { reason });
    }
  }
}
