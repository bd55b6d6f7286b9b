// HTTP as the library speaks it, but a call whose stream of events ends without its answer is told so instead of waiting for ever.
import { StreamableHTTPClientTransport, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';

/** The code of an answer that we make up where none can come any more. */
export const RESPONSE_LOST: number = -32_090;

/** An answer that came with the end of its stream may still be on its way when the end is told. */
const streamEndGraceMs = 250;

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/** A transport over HTTP. */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || options.onRequestStreamEnd)
      return super.send(message, options);
    const { id } = message;
    const error = { code: RESPONSE_LOST, message: 'the connection ended before the answer' };
    // To one that was answered this is a second answer, which nobody waits for.
    const lost = (): void => this.onmessage?.({ jsonrpc: '2.0', id, error });
    return super.send(message, {
      ...options,
      onRequestStreamEnd: () => void setTimeout(lost, streamEndGraceMs).unref(),
    });
  }
}
