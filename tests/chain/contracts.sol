// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// What the tests talk to on a local chain. `python -m tests.chain.compile` writes contracts.json from it.
// Contracts that stand at a fixed address have neither constructor nor immutables: their code is set, not deployed.

/// Stands where Hats Protocol does: what we read of it (EIP-1155 balances), and setters for tests.
contract StandInHats {
    struct Hat {
        bool inactive;
        mapping(address => bool) worn;
        mapping(address => bool) unfit;
    }

    mapping(uint256 => Hat) private hats;

    function give(uint256 id, address wearer) external {
        hats[id].worn[wearer] = true;
    }

    function take(uint256 id, address wearer) external {
        hats[id].worn[wearer] = false;
    }

    function setActive(uint256 id, bool active) external {
        hats[id].inactive = !active;
    }

    function setEligible(uint256 id, address wearer, bool eligible) external {
        hats[id].unfit[wearer] = !eligible;
    }

    function balanceOf(address wearer, uint256 id) public view returns (uint256) {
        Hat storage hat = hats[id];
        return hat.worn[wearer] && !hat.unfit[wearer] && !hat.inactive ? 1 : 0;
    }

    function isWearerOfHat(address wearer, uint256 id) external view returns (bool) {
        return balanceOf(wearer, id) > 0;
    }

    function balanceOfBatch(address[] calldata wearers, uint256[] calldata ids)
        external
        view
        returns (uint256[] memory balances)
    {
        require(wearers.length == ids.length, "LENGTH_MISMATCH");
        balances = new uint256[](ids.length);
        for (uint256 i; i < ids.length; ++i) balances[i] = balanceOf(wearers[i], ids[i]);
    }
}

/// Stands where ENS's Universal Resolver does: answers what a test told it to, and reverts for the rest.
contract StandInResolver {
    struct Answer {
        bool known;
        bool offchain;
        bytes data;
    }

    mapping(bytes32 => Answer) private answers;

    error ResolverNotFound(bytes name);
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    function tell(bytes calldata name, bytes calldata data, bytes calldata answer) external {
        answers[keccak256(abi.encode(name, data))] = Answer(true, false, answer);
    }

    /// `url` is where the answer is said to be (EIP-3668).
    function tellOffchain(bytes calldata name, bytes calldata data, string calldata url) external {
        answers[keccak256(abi.encode(name, data))] = Answer(true, true, bytes(url));
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory, address) {
        Answer storage answer = answers[keccak256(abi.encode(name, data))];
        if (!answer.known) revert ResolverNotFound(name);
        if (answer.offchain) {
            string[] memory urls = new string[](1);
            urls[0] = string(answer.data);
            revert OffchainLookup(address(this), urls, data, this.resolve.selector, "");
        }
        return (answer.data, address(this));
    }
}

/// Answers every call with the same bytes, or reverts: what stands at an address where something else should be.
contract Answers {
    bytes private answer;
    bool private reverts;

    function tell(bytes calldata data, bool revertsNow) external {
        answer = data;
        reverts = revertsNow;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        require(!reverts, "told to");
        return answer;
    }
}

/// A wallet with one owner (EIP-1271).
contract Wallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address signer =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Makes such wallets at addresses that are known beforehand (EIP-1014, for EIP-6492).
contract WalletFactory {
    function deploy(address owner, bytes32 salt) external returns (address) {
        return address(new Wallet{salt: salt}(owner));
    }

    function predict(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

/// Agrees to everything once anybody has asked it to: a call inside a simulation must not count.
contract WalletUnlocked {
    bool private open;

    function unlock() external {
        open = true;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return open ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

contract WalletReverts {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert("no");
    }
}

contract WalletBurnsGas {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        while (gasleft() > 0) {}
        return 0x1626ba7e;
    }
}

/// The magic word with something behind it, in the same 32 bytes.
contract WalletDirtyReturn {
    function isValidSignature(bytes32, bytes calldata) external pure {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000001)
            return(0, 32)
        }
    }
}

contract WalletHugeReturn {
    function isValidSignature(bytes32, bytes calldata) external pure {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, 2000000)
        }
    }
}

/// Reverts with as much as its gas allows: the node has to hand all of it on.
contract WalletHugeRevert {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        assembly {
            revert(0, 1000000)
        }
    }
}

/// Sends whoever checks it to a URL of its own choice (EIP-3668).
contract WalletOffchainLookup {
    string private url;

    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    constructor(string memory url_) {
        url = url_;
    }

    function isValidSignature(bytes32, bytes calldata signature) external view returns (bytes4) {
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, signature, this.isValidSignature.selector, "");
    }
}
