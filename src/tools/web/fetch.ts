// What the web tools share: the workspace's door to the network, and answers as text.
import { FairleadError, type FetchResult, type FetchRequest, type Workspace } from '../../core/index.ts';

/** Asks through the workspace; one without a network says so. */
export async function fetchViaWorkspace(
  workspace: Workspace,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<FetchResult> {
  if (!workspace.fetch)
    throw new FairleadError('network/closed', 'The network is closed, so nothing was sent.', { blame: 'user' });
  return workspace.fetch(request, { signal });
}

/** The kind of an answer, without its parameters. */
export const contentType = ({ headers }: FetchResult): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const textTypePattern =
  /^text\/|^application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|graphql|toml|sql|x-www-form-urlencoded)$|\+(?:json|xml)$/;

/** An answer as text in its own encoding; nothing where it is no text. */
export function decodeBodyText(fetched: FetchResult): string | undefined {
  const type = contentType(fetched);
  const { body, headers } = fetched;
  if (type !== '' ? !textTypePattern.test(type) : body.includes(0)) return undefined;
  const start = Buffer.from(body.subarray(0, 2048)).toString('latin1');
  const label =
    /charset=["']?([\w:-]+)/i.exec(headers['content-type'] ?? '')?.[1] ??
    /<meta[^>]+charset=["']?([\w:-]+)/i.exec(start)?.[1];
  try {
    return new TextDecoder(label ?? 'utf-8').decode(body);
  } catch {
    // An encoding that nobody knows.
    return new TextDecoder().decode(body);
  }
}
