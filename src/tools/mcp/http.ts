// The HTTP transport of the library, extended: a call whose event stream ends without its response fails instead of waiting forever.
import { StreamableHTTPClientTransport, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';

/** The code of the error response that we create if no response can arrive any more. */
export const RESPONSE_LOST: number = -32_090;

/** A response that arrives with the end of its stream may be processed after the end is reported. */
const streamEndGraceMs = 250;

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport['send']>[1]>;

/** A transport over HTTP. */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options: SendOptions = {}): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || options.onRequestStreamEnd)
      return super.send(message, options);
    const { id } = message;
    const error = { code: RESPONSE_LOST, message: 'the connection ended before the response' };
    // If the call was answered, this second response is ignored.
    const sendError = (): void => this.onmessage?.({ jsonrpc: '2.0', id, error });
    return super.send(message, {
      ...options,
      onRequestStreamEnd: () => void setTimeout(sendError, streamEndGraceMs).unref(),
    });
  }
}
