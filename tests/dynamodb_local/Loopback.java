import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local on a free port of the loopback interface: it listens on every interface, and has no option against it.
 *
 * Says where it listens, and ends when its input does: with whoever started it.
 */
public final class Loopback {
    private Loopback() {}

    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(
                new String[] {"-inMemory", "-sharedDb", "-disableTelemetry"});
        Field field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        Server server = (Server) field.get(proxy);
        for (Connector connector : server.getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
            ((ServerConnector) connector).setPort(0);
        }
        proxy.start();
        System.out.println("listens on " + ((ServerConnector) server.getConnectors()[0]).getLocalPort());
        while (System.in.read() >= 0) {
            continue;
        }
        Runtime.getRuntime().halt(0);
    }
}
