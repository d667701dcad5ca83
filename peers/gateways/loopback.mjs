// The gateway listens on all addresses of the machine; loaded with `--import`, this makes it a free port of 127.0.0.1, with the
// URL as a line on stdout, until stdin ends.

import net from 'node:net';

const listen = net.Server.prototype.listen;

/** The arguments that others give are no matter: a port of their own, all addresses. */
net.Server.prototype.listen = function (...args) {
    const done = args.findLast(argument => typeof argument === 'function');
    return listen.call(this, 0, '127.0.0.1', () => {
        console.log(`http://127.0.0.1:${this.address().port}${process.env.PEER_PATH ?? '/mcp'}`);
        process.stdin.on('end', () => process.exit()).resume();
        done?.();
    });
};
