// The action that ends an intercepted run, and the text that the client gets instead of a response.
import type { InterceptAction } from './interceptor.ts';

/** Ends the run. */
export type StopAction = InterceptAction & { readonly type: 'stop' };

/** Formats the text that the client gets instead of a response. */
export const formatStopMessage = ({ reason, detail }: StopAction): string =>
  `[fairlead] The run was stopped (${reason})${detail ? `: ${detail}` : '.'}`;
