// The WebSocket transport of MCP: one text frame per message; a frame that is too long closes the connection.
import { parseJSONRPCMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';

const maxMessageChars = 16_000_000;

/** A transport over a WebSocket. */
export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #socket: WebSocket | undefined;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  async start(): Promise<void> {
    // Node's WebSocket accepts headers too, which the standard type does not include.
    const options: unknown = { protocols: ['mcp'], headers: { ...this.#headers } };
    const socket = new WebSocket(this.#url, options as string[]);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => this.#read(data));
    socket.addEventListener('close', () => this.onclose?.());
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener(
        'error',
        () =>
          reject(
            new FairleadError('mcp/unreachable', `${escapeInvisibleLine(this.#url)} did not respond.`, {
              blame: 'tool',
            }),
          ),
        { once: true },
      );
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Error('The connection is closed.'));
    this.#socket.send(JSON.stringify(message));
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#socket?.close();
    return Promise.resolve();
  }

  #read(data: unknown): void {
    if (typeof data !== 'string' || data.length > maxMessageChars) {
      this.onerror?.(new Error('The server sent a frame that is not text, or one that is too long.'));
      this.#socket?.close();
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(data));
    } catch (error) {
      this.onerror?.(new Error(`The server sent something that is not a message: ${errorMessage(error)}`));
      return;
    }
    this.onmessage?.(message);
  }
}
