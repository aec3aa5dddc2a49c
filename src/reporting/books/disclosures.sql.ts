import type { Database } from '../../platform/database/database.ts';
import type { Mode } from '../../platform/mode.ts';
import type { Period } from './period.ts';

/** Who takes whole addresses of shoppers out of this program, of which period, and why. */
type Disclosure = { mode: Mode; to: string; note: string; period: Period };

/** Notes it before anything is handed out: what was only begun has been seen. */
export async function noteDisclosure(
  database: Database,
  { mode, to, note, period }: Disclosure,
): Promise<void> {
  const prisma = await database.prisma();
  await prisma.disclosure.create({ data: { mode, disclosedTo: to, note, ...period } });
}
