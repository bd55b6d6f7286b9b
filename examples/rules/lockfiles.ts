type Call = { readonly tool: string; readonly input: { readonly path?: string } };
type Kit = {
  readonly enforce: (rule: {
    readonly name: string;
    readonly why: string;
    readonly objection: (call: Call) => { readonly deny: string } | undefined;
    readonly examples: readonly object[];
  }) => object;
};

export default ({ enforce }: Kit): object => ({
  name: 'lockfiles',
  gates: [
    enforce({
      name: 'no-lockfile-edits',
      why: 'A lockfile is written by its package manager.',
      objection: ({ tool, input }) =>
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
