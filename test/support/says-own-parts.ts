/** A process of its own: says where its own parts come from. */
import * as own from '../../src/custom/index.ts';

process.stdout.write('isAsItCame' in own ? 'as it came\n' : 'src/custom/index.ts\n');
