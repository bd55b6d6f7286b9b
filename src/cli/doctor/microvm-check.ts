// Checks whether commands can run in a virtual machine here; if not, it says why in one sentence.
import { selectMicrovm } from '../../coding-agent/index.ts';
import { ok, type DoctorCheck } from './check.ts';

/** Reports what the sandbox `microvm` needs. It is a choice of the user, so that its absence is no problem. */
export const microvmCheck: DoctorCheck = {
  name: 'microvm',
  async run({ settings }) {
    const found = await selectMicrovm(settings, process.cwd());
    if ('why' in found)
      return ok(`Commands cannot run in a virtual machine: ${found.why}. ${found.remedy}; it is optional.`);
    const { kernel, isHardware } = found;
    return ok(
      `Commands can run in a virtual machine (QEMU, ${kernel}${isHardware ? '' : ', emulated'}): fairlead config set sandbox.kind microvm`,
    );
  },
};
