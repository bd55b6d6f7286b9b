// Reads a stream of events from a server.

/** One frame of a stream. */
export type SseFrame = { readonly event: string; readonly id?: number; readonly data: Record<string, unknown> };

/** The frames of an answer until it ends. */
export async function* readSseFrames(answer: Response): AsyncGenerator<SseFrame> {
  if (answer.status !== 200 || !answer.body)
    throw new Error(`${answer.url} is ${answer.status}: ${await answer.text()}`);
  let rest = '';
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const all = (rest + piece).split('\n\n');
    rest = all.pop() ?? '';
    for (const frame of all) {
      const [, id, event, data] = /^(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
      if (event === undefined) continue;
      yield {
        event,
        ...(id === undefined ? {} : { id: Number(id) }),
        data: JSON.parse(data ?? '{}') as Record<string, unknown>,
      };
    }
  }
}
