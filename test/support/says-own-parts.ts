/** A process of its own: says where its own parts come from. */
import * as own from '../../src/own.ts';

process.stdout.write('isAsItCame' in own ? 'as it came\n' : 'src/own.ts\n');
