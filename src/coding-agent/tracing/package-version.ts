// The version of this package, for the resource of a trace.
import manifest from '../../../package.json' with { type: 'json' };

/** The version of this package. */
export const packageVersion: string = manifest.version;
