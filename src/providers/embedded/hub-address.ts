// Parses the address of a model file on the Hugging Face hub, in the spelling of the runtime: `hf:<owner>/<repo>:<quant>` or `hf:<owner>/<repo>/<file>#<branch>`.
import { FairleadError } from '../../core/index.ts';

/** The address of a model file on the hub. */
export type HubAddress = {
  /** `<owner>/<repo>`. */
  readonly repo: string;
  /** The path of the file in the repository. */
  readonly file?: string;
  /** The quantization, such as `Q4_K_M`; selects the file if none is named. */
  readonly quant?: string;
  /** The branch, tag or commit; `main` by default. */
  readonly revision: string;
};

const prefix = /^(?:(?:hf|huggingface):(?:\/\/)?|(?:hf|huggingface)\.co\/)/;

/** Whether a model name is an address on the hub. */
export const isHubAddress = (name: string): boolean => prefix.test(name);

/** Parses an address; an invalid one is an error before any request. */
export function parseHubAddress(text: string): HubAddress {
  const [location = '', revision = 'main', ...more] = text.replace(prefix, '').split('#');
  const [owner = '', repoAndQuant = '', ...path] = location.split('/');
  const [name = '', quant, ...rest] = path.length > 0 ? [repoAndQuant] : repoAndQuant.split(':');
  const file = path.join('/');
  const isValid =
    [owner, name].every(isPlainName) &&
    path.every(isPlainName) &&
    (quant === undefined || /^\w[\w.-]*$/.test(quant)) &&
    (file === '' || file.toLowerCase().endsWith('.gguf')) &&
    /^\w[\w./-]*$/.test(revision) &&
    !revision.split('/').includes('..') &&
    more.length + rest.length === 0;
  if (!isValid)
    throw new FairleadError('embedded/bad-address', `"${text}" is not the address of a model on the hub.`, {
      blame: 'user',
      hint: 'Write hf:<owner>/<repo>:<quant>, such as hf:Qwen/Qwen3-1.7B-GGUF:Q8_0, or hf:<owner>/<repo>/<file>.gguf.',
    });
  return {
    repo: `${owner}/${name}`,
    ...(file === '' ? {} : { file }),
    ...(quant === undefined ? {} : { quant }),
    revision,
  };
}

/** A part of a path: no empty part, no `..`, nothing that ends a URL path. */
const isPlainName = (part: string): boolean => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part);

/** Returns an address in its one spelling. */
export const formatHubAddress = ({ repo, file, quant, revision }: HubAddress): string =>
  `hf:${repo}${file === undefined ? '' : `/${file}`}${quant === undefined ? '' : `:${quant}`}${revision === 'main' ? '' : `#${revision}`}`;
