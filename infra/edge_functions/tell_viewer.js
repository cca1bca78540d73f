// CloudFront Function, viewer request: says who calls. Behind the distribution the gateway sees an address of CloudFront's.
// Functions believe this header only beside the value of the front door, which no caller knows.
function handler(event) {
  var request = event.request;
  request.headers['x-commonplace-viewer'] = { value: event.viewer.ip };
  delete request.headers['x-commonplace-origin'];
  return request;
}
