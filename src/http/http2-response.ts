/** Responses of HTTP/2 as those of HTTP/1.1 are: what node:http2's compatible ones lack and pages go by. */
import { constants, Http2ServerResponse } from 'node:http2';

export class WholeHttp2Response extends Http2ServerResponse {
  static {
    // Node declares them as plain properties, which a class cannot turn into getters.
    Object.defineProperties(WholeHttp2Response.prototype, {
      destroyed: {
        get(this: Http2ServerResponse) {
          return this.stream.destroyed;
        },
      },
      writableNeedDrain: {
        get(this: Http2ServerResponse) {
          return this.stream.writableNeedDrain;
        },
      },
    });
  }

  /** Resets the stream, so that what was sent does not look like the whole. */
  override destroy(): this {
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return this;
  }
}
