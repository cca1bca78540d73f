// A wallet as an extension would inject it. What it is asked goes to the test, which signs.
(() => {
  const { announced, legacy } = __WALLET__;
  const provider = { on() {}, removeListener() {}, async request({ method, params = [] }) {
    const answer = JSON.parse(await window.__wallet(JSON.stringify({ method, params })));
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.result;
  } };
  if (legacy) window.ethereum = provider;
  const announce = () => {
    for (const info of announced) {
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
    }
  };
  addEventListener("eip6963:requestProvider", announce);
  announce();
})();
