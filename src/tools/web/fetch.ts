// Shared by the web tools: requests through the workspace, and response bodies as text.
import { FairleadError, type FetchResult, type FetchRequest, type Workspace } from '../../core/index.ts';

/** Sends a request through the workspace. Throws if it has no network access. */
export async function fetchViaWorkspace(
  workspace: Workspace,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<FetchResult> {
  if (!workspace.fetch)
    throw new FairleadError('network/closed', 'Network access is disabled, so nothing was sent.', { blame: 'user' });
  return workspace.fetch(request, { signal });
}

/** Returns the media type of a response, without parameters. */
export const contentType = ({ headers }: FetchResult): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

const textTypePattern =
  /^text\/|^application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|graphql|toml|sql|x-www-form-urlencoded)$|\+(?:json|xml)$/;

/** Decodes a response body in its own encoding; undefined if it is not text. */
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
    // An unknown encoding.
    return new TextDecoder().decode(body);
  }
}
