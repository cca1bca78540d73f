// Lambda@Edge, origin response: gives WWW-Authenticate its name back, which API Gateway may have changed. It runs for
// every answer of the origin, errors included; a function at the viewer's side would not run for 401 and 403.
const RENAMED = 'x-amzn-remapped-www-authenticate';

exports.handler = async (event) => {
  const response = event.Records[0].cf.response;
  const renamed = response.headers[RENAMED];
  if (renamed && !response.headers['www-authenticate']) {
    response.headers['www-authenticate'] = renamed.map(({ value }) => ({ key: 'WWW-Authenticate', value }));
  }
  delete response.headers[RENAMED];
  return response;
};
