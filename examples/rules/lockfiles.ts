type Call = { readonly tool: string; readonly input: { readonly path?: string } };
type Kit = {
  readonly defineGate: (rule: {
    readonly name: string;
    readonly description: string;
    readonly decide: (call: Call) => { readonly deny: string } | undefined;
    readonly examples: readonly object[];
  }) => object;
};

export default ({ defineGate }: Kit): object => ({
  name: 'lockfiles',
  gates: [
    defineGate({
      name: 'no-lockfile-edits',
      description: 'A lockfile is written by its package manager.',
      decide: ({ tool, input }) =>
        /^(edit|write)_file$/.test(tool) && /(^|\/)package-lock\.json$/.test(input.path ?? '')
          ? { deny: 'Run npm install instead.' }
          : undefined,
      examples: [
        {
          title: 'an edit of the lockfile',
          call: { tool: 'edit_file', input: { path: 'package-lock.json' } },
          decides: 'deny',
        },
        {
          title: 'an edit of the manifest',
          call: { tool: 'edit_file', input: { path: 'package.json' } },
          decides: 'allow',
        },
      ],
    }),
  ],
});
