// In place of packages that only serve WalletConnect, Sui, React and React Native. None of them is used here.

function absent() {
  throw new Error("This part of WaaP was left out when it was built.");
}

export class EthersAdapter {
  constructor() {
    absent();
  }
}
export const registerWallet = absent, createAppKit = absent, mainnet = {};
export const useState = absent, useRef = absent, useEffect = absent, useCallback = absent;
export default {};
